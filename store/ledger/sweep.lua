-- ARGV: origin kind, origin id, 'lost' or 'abandoned'. Takes back up to max_per_step operations whose lease ran out, or
-- with 'abandoned' any that run; ends up to as many that were not answered in time, or takes them back where a tool's worker is silent; looks
-- at as many of the items whose seconds are over, all together, and skips what does not run or wait; notifies dependents. Answers how many
-- operations are left for the next call, and how many were taken back. Goes on with what a tool that was allowed for the run wakes. Waiting
-- operations of a stopped run are left to end-slice.lua.
local refused = refusal()
if refused then return refused end
local at, origin = now(), { ARGV[1], ARGV[2] }
local until_time = ARGV[3] == 'abandoned' and '+inf' or text(at)
local taken_back = 0
for _, id in ipairs(redis.call('ZRANGEBYSCORE', keys.leases, '-inf', until_time, 'LIMIT', 0, max_per_step)) do
  if redis.call('HGET', prefix .. 'op:' .. id, 'status') == 'running' then
    take_back(id, 'running', at, origin, ARGV[3])
    taken_back = taken_back + 1
  else
    redis.call('ZREM', keys.leases, id)
  end
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', keys.waiting, '-inf', text(at), 'LIMIT', 0, max_per_step)) do
  -- An operation that ends here may stop its run.
  if not is_stopped() then
    local op = redis.call('HMGET', prefix .. 'op:' .. id, 'question', 'attempt')
    if op[1] == 'tool' then
      take_back(id, 'waiting', at, origin, 'lost')
      taken_back = taken_back + 1
    else
      local reason = op[1] .. ' was not answered in time'
      close_question(op[1], { status = 'expired' })
      end_unsettled(id, 'waiting', at, origin, { status = 'blocked', attempt = tonumber(op[2]), reason = reason, error_code = expired_code })
    end
  end
end
if not is_stopped() then wake_allowed(at, origin) end

-- How many operations of items whose seconds are over this step still looks at, and how many are left for the next call.
local unused, late = max_per_step, 0

-- An item is looked at once it is planned as a whole. What runs or waits then is skipped if it becomes ready again (dispatch.lua).
local function skip_late_of(item, deadline)
  if deadline.at > at or item_field(item, 'planned') ~= '1' then return end
  local first, left = item_field(item, 'first') + deadline.looked_at, item_field(item, 'operations') - deadline.looked_at
  local count = math.min(unused, left)
  unused, late = unused - count, late + left - count
  if count == 0 then return end
  deadline.looked_at = deadline.looked_at + count
  set_deadline(item, deadline)
  for _, id in ipairs(redis.call('ZRANGE', keys.operations, first, first + count - 1)) do
    local status = redis.call('HGET', prefix .. 'op:' .. id, 'status')
    if status == 'pending' or status == 'ready' or status == 'dispatched' then skip_late(id, status, at, origin) end
  end
end

if not is_stopped() then
  for item, deadline in pairs(deadlines()) do skip_late_of(item, deadline) end
end
advance_run(at)
local left = redis.call('ZCOUNT', keys.leases, '-inf', until_time)
if not is_stopped() then
  left = left + late + redis.call('ZCOUNT', keys.waiting, '-inf', text(at)) + redis.call('HEXISTS', keys.run, 'allowing')
end
return { left, taken_back }
