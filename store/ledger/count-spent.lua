-- KEYS: tokens counted of each run, tokens of the project today, budgets of projects. ARGV: run, project, all tokens that the run
-- has used, seconds to keep the day. What was not counted of them before counts for today. Answers what the project has used
-- today, and the least of its budgets for a day, if it has one.
local counted = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0')
local new = tonumber(ARGV[3]) - counted
if new > 0 then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
  redis.call('INCRBY', KEYS[2], string.format('%.0f', new))
  redis.call('EXPIRE', KEYS[2], ARGV[4])
end
local budgets = redis.call('HMGET', KEYS[3], ARGV[2] .. ' operator', ARGV[2] .. ' own')
local limit = budgets[1] or budgets[2]
if budgets[1] and budgets[2] and tonumber(budgets[2]) < tonumber(budgets[1]) then limit = budgets[2] end
return { tonumber(redis.call('GET', KEYS[2]) or '0'), limit and tonumber(limit) }
