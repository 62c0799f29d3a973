-- ARGV: command, message, (event age, event body)…
local refused = refusal()
if refused then return refused end
local command = 'inbox ' .. ARGV[1]
if redis.call('SISMEMBER', keys.commands, command) == 1 then return 'sent' end
if is_stopped() or redis.call('HGET', keys.run, 'conductor') ~= 'open' then return 'over' end
redis.call('SADD', keys.commands, command)
local at = now()
tell_conductor(ARGV[2], emit(at, ARGV, 3))
advance_run(at)
return 'sent'
