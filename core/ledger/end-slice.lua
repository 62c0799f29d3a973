-- ARGV: place in the plan to begin at, how many, origin kind, origin id. Ends those of them that nobody works on, of a
-- stopped run. Answers where the next slice begins, -1 after the last, and how much of the run is still open.
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
go_on(at)
local next_first = first + #ids
if next_first >= redis.call('ZCARD', keys.operations) then next_first = -1 end
return { next_first, counts().open + redis.call('LLEN', keys.cascade) }
