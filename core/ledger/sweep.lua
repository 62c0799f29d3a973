-- ARGV: origin kind, origin id, 'lost' or 'abandoned'. Takes back up to cascade_budget operations whose lease ran out, or
-- whose lease is worth nothing any more, and tells dependents that are still to be told. Answers how many are left.
local refused = refusal()
if refused then return refused end
local at = now()
local until_time = text(at)
if ARGV[3] == 'abandoned' then until_time = '+inf' end
local taken_back = redis.call('ZRANGEBYSCORE', keys.leases, '-inf', until_time, 'LIMIT', 0, cascade_budget)
for _, id in ipairs(taken_back) do
  if redis.call('HGET', prefix .. 'op:' .. id, 'status') == 'running' then
    lose(id, at, { ARGV[1], ARGV[2] }, ARGV[3])
  else
    redis.call('ZREM', keys.leases, id)
  end
end
go_on(at)
return redis.call('ZCOUNT', keys.leases, '-inf', until_time)
