-- ARGV: bundle, the reason, the rank after which to go on ('-inf' at first), origin kind, origin id. Ends as blocked those of
-- the next max_per_step held operations that are of this bundle. Answers the rank to go on from; '' after the last.
local refused = refusal()
if refused then return refused end
local away = bundles_away()
if is_stopped() or not (away and away[ARGV[1]]) then return '' end
local at = now()
local found = redis.call('ZRANGEBYSCORE', keys.held, ARGV[3], '+inf', 'WITHSCORES', 'LIMIT', 0, max_per_step)
for i = 1, #found, 2 do
  -- An operation that ends here may stop its run.
  if described(found[i]).bundle == ARGV[1] and not is_stopped() then
    local data = { status = 'blocked', reason = ARGV[2], error_code = 'AGENT_002' }
    end_unsettled(found[i], 'ready', at, { ARGV[4], ARGV[5] }, data)
  end
end
advance_run(at)
if #found < 2 * max_per_step then return '' end
return '(' .. found[#found]
