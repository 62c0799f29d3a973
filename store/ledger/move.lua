-- ARGV: command, status or '', phase or '', number of operations it must have or '', number of states it may be in, (status, phase or
-- '')…, number of fields, (field, value)…, (event age, event body)…
local refused = refusal()
if refused then return refused end
if redis.call('SISMEMBER', keys.commands, ARGV[1]) == 1 then return 'already' end
local run = redis.call('HMGET', keys.run, 'status', 'phase')
if run_has_ended[run[1]] then return 'refused' end

if ARGV[4] ~= '' and redis.call('ZCARD', keys.operations) ~= tonumber(ARGV[4]) then return 'refused' end

local next_arg = 6
local matches = false
for _ = 1, tonumber(ARGV[5]) do
  local phase = ARGV[next_arg + 1]
  if ARGV[next_arg] == run[1] and (phase == '' or phase == run[2]) then matches = true end
  next_arg = next_arg + 2
end
if not matches then return 'refused' end

-- A run that is being stopped is ended only by the stop, and no run ends with open operations.
if run_has_ended[ARGV[2]] then
  if ARGV[1] ~= 'stop' and redis.call('HGET', keys.run, 'cancel') == '1' then return 'refused' end
  if counts().open > 0 then return 'open' end
end

local at = now()
redis.call('SADD', keys.commands, ARGV[1])
if ARGV[2] ~= '' then redis.call('HSET', keys.run, 'status', ARGV[2]) end
if ARGV[3] ~= '' then redis.call('HSET', keys.run, 'phase', ARGV[3]) end
if run_has_ended[ARGV[2]] then redis.call('HSET', keys.run, 'ended', text(at)) end
local fields = tonumber(ARGV[next_arg])
for i = 1, fields do redis.call('HSET', keys.run, ARGV[next_arg + 2 * i - 1], ARGV[next_arg + 2 * i]) end
local events = {}
for i = next_arg + 2 * fields + 1, #ARGV do events[#events + 1] = ARGV[i] end
emit(at, events)
return 'moved'
