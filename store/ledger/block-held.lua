-- ARGV: bundle, the reason, the rank after which to go on ('-inf' at first), origin kind, origin id. Ends as blocked those of
-- the next max_per_step held operations that are of this bundle. Answers the rank to go on from; '' after the last.
local refused = refusal()
if refused then return refused end
local away = bundles_away()
if is_stopped() or not (away and away[ARGV[1]]) then return '' end
local at = now()
local code, reason, origin = 'AGENT_002', ARGV[2], { ARGV[4], ARGV[5] }
local found = redis.call('ZRANGEBYSCORE', keys.held, ARGV[3], '+inf', 'WITHSCORES', 'LIMIT', 0, max_per_step)
for i = 1, #found, 2 do
  local id = found[i]
  local operation = described(id)
  -- An operation that ends here may stop its run.
  if operation.bundle == ARGV[1] and not is_stopped() then
    local data = with_node(id, { status = 'blocked', reason = reason, error_code = code })
    redis.call('HDEL', prefix .. 'op:' .. id, 'token') -- the attempt that was handed back did not end it
    end_operation(id, 'ready', at, {
      status = 'blocked',
      outcome = bare_outcome(id, 'blocked', code, reason),
      events = { 0, body_of('operation.blocked', origin, operation, data), 0, body_of('operation.ended', origin, operation, data) },
    })
  end
end
advance_run(at)
if #found < 2 * max_per_step then return '' end
return '(' .. found[#found]
