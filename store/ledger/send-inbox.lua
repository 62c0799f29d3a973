-- ARGV: command, message, (event age, event body)…
local refused = refusal()
if refused then return refused end
local command = 'inbox ' .. ARGV[1]
if redis.call('SISMEMBER', keys.commands, command) == 1 then return 'sent' end
if is_stopped() or redis.call('HGET', keys.run, 'conductor') ~= 'open' then return 'over' end
redis.call('SADD', keys.commands, command)
local at = now()
local seq, message = emit(at, ARGV, 3), ARGV[2]
-- What is decided on an escalation follows from its event.
if seq and string.match(message, '^{"kind":"escalation"') then message = '{"seq":' .. text(seq) .. ',' .. string.sub(message, 2) end
tell_conductor(message)
advance_run(at)
return 'sent'
