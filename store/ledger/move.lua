-- ARGV: command, status or '', phase or '', the generation that the caller has seen or '', number of states it may be in, (status, phase or
-- '')…, number of fields, (field, value)…, (event age, event body)…
local refused = refusal()
if refused then return refused end
local generation = text(generation_of_run())
if ARGV[4] ~= '' and generation ~= ARGV[4] then return 'refused' end
local command = generation .. ' ' .. ARGV[1]
if redis.call('SISMEMBER', keys.commands, command) == 1 then return 'already' end
local run = redis.call('HMGET', keys.run, 'status', 'phase')
if run_has_ended[run[1]] then return 'refused' end

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
redis.call('SADD', keys.commands, command)
if ARGV[2] ~= '' then redis.call('HSET', keys.run, 'status', ARGV[2]) end
if ARGV[3] ~= '' then redis.call('HSET', keys.run, 'phase', ARGV[3]) end
if run_has_ended[ARGV[2]] then
  redis.call('HSET', keys.run, 'ended', text(at))
  -- Of a run that was not stopped the conductor has settled it, and the watcher will: a worker, which ends such a run, has no right to these keys.
  if ARGV[1] == 'stop' then
    for _, holder in ipairs({ 'agenda', 'watch' }) do reserve(prefix .. holder, 0) end
  end
end
local fields = tonumber(ARGV[next_arg])
for i = 1, fields do
  local field = ARGV[next_arg + 2 * i - 1]
  redis.call('HSET', keys.run, field, ARGV[next_arg + 2 * i])
  -- What was proposed before is out of date, also where nobody has decided since.
  if field == 'composition' then redis.call('HDEL', keys.run, 'patch:proposed') end
end
local seq = emit(at, ARGV, next_arg + 2 * fields + 1)
-- What is ready from here on is so for this.
if seq and ARGV[3] == 'execution' then redis.call('HSET', keys.run, 'cause', text(seq)) end
return 'moved'
