-- ARGV: position in the plan to begin at, how many, origin kind, origin id. Ends those of these operations of a stopped
-- run that no worker is running. Answers named fields: `next`, where the next slice begins (absent after the last);
-- `open`, how many operations are still to end or to notify their dependents.
local refused = refusal()
if refused then return refused end
if redis.call('HGET', keys.run, 'cancel') ~= '1' then return 'going_on' end
local at = now()
local first = tonumber(ARGV[1])
local ids = redis.call('ZRANGE', keys.operations, first, first + tonumber(ARGV[2]) - 1)
for _, id in ipairs(ids) do
  local status = redis.call('HGET', prefix .. 'op:' .. id, 'status')
  if status == 'pending' or status == 'ready' or status == 'dispatched' or status == 'waiting' then
    cancel_operation(id, status, at, { ARGV[3], ARGV[4] })
  end
end
advance_run(at)
local next_first = first + #ids
local is_last = next_first >= redis.call('ZCARD', keys.operations)
return { 'next', not is_last and next_first, 'open', counts().open + redis.call('LLEN', keys.cascade) }
