-- ARGV: origin kind, origin id, 'lost' or 'abandoned'. Takes back up to max_per_step operations whose lease ran out, or
-- with 'abandoned' any that run; ends up to as many that were not answered in time; skips those that have not started of items whose seconds
-- are over, of which it looks at as many; notifies dependents. Answers how many operations are left for the next call, and how many were taken
-- back. Goes on with what a tool that was allowed for the run wakes. Waiting operations of a stopped run are left to end-slice.lua.
local refused = refusal()
if refused then return refused end
local at, origin = now(), { ARGV[1], ARGV[2] }
local until_time = ARGV[3] == 'abandoned' and '+inf' or text(at)
local taken_back = 0
for _, id in ipairs(redis.call('ZRANGEBYSCORE', keys.leases, '-inf', until_time, 'LIMIT', 0, max_per_step)) do
  if redis.call('HGET', prefix .. 'op:' .. id, 'status') == 'running' then
    take_back(id, at, origin, ARGV[3])
    taken_back = taken_back + 1
  else
    redis.call('ZREM', keys.leases, id)
  end
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', keys.waiting, '-inf', text(at), 'LIMIT', 0, max_per_step)) do
  -- An operation that ends here may stop its run.
  if not is_stopped() then
    local op = redis.call('HMGET', prefix .. 'op:' .. id, 'question', 'attempt')
    local reason = op[1] .. ' was not answered in time'
    close_question(op[1], { status = 'expired' })
    end_unsettled(id, 'waiting', at, origin, { status = 'blocked', attempt = tonumber(op[2]), reason = reason, error_code = expired_code })
  end
end
if not is_stopped() then wake_allowed(at, origin) end

-- An item is looked at once it is planned as a whole. Answers how many of its operations are left for the next call.
local function skip_late(item, deadline)
  if deadline.at > at or item_field(item, 'planned') ~= '1' then return 0 end
  local first, left = item_field(item, 'first') + deadline.looked_at, item_field(item, 'operations') - deadline.looked_at
  for _, id in ipairs(redis.call('ZRANGE', keys.operations, first, first + math.min(max_per_step, left) - 1)) do
    local kept = redis.call('HMGET', prefix .. 'op:' .. id, 'status', 'attempt')
    if not kept[2] and (kept[1] == 'pending' or kept[1] == 'ready' or kept[1] == 'dispatched') then
      local data = with_node(id, { status = 'skipped', cause = 'item', error_code = budget_code })
      end_operation(id, kept[1], at, {
        status = 'skipped',
        outcome = bare_outcome(id, 'skipped', budget_code, 'the seconds of its item were over'),
        events = { 0, body_of('operation.skipped', origin, described(id), data) },
      })
    end
  end
  deadline.looked_at = deadline.looked_at + max_per_step
  set_deadline(item, left > max_per_step and deadline or nil)
  return math.max(0, left - max_per_step)
end

local late = 0
if not is_stopped() then
  for item, deadline in pairs(deadlines()) do late = late + skip_late(item, deadline) end
end
advance_run(at)
local left = redis.call('ZCOUNT', keys.leases, '-inf', until_time)
if not is_stopped() then
  left = left + late + redis.call('ZCOUNT', keys.waiting, '-inf', text(at)) + redis.call('HEXISTS', keys.run, 'allowing')
end
return { left, taken_back }
