-- KEYS: tokens counted of each run, tokens of the project today, budgets of projects, what runs of the project were granted.
-- ARGV: run, project, all tokens that the run has used, seconds to keep the day, all that it has given back of what it was granted, how
-- many runs share the day (0: this one wants nothing; '' when it has ended), the least that is of use to it.
-- What was not counted of its tokens before counts for today. What runs were granted and have neither used nor given back is taken out of
-- today, too. Answers what the project has used today; the least of its budgets for a day, if it has one; all that the run was granted
-- so far; what the other runs hold.
local used = math.max(tonumber(ARGV[3]), tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0'))
local new = used - tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0')
if new > 0 then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
  redis.call('INCRBY', KEYS[2], string.format('%.0f', new))
  redis.call('EXPIRE', KEYS[2], ARGV[4])
end
local budgets = redis.call('HMGET', KEYS[3], ARGV[2] .. ' operator', ARGV[2] .. ' own')
local limit = tonumber(budgets[1] or budgets[2] or '')
if budgets[1] and budgets[2] and tonumber(budgets[2]) < limit then limit = tonumber(budgets[2]) end
local spent = tonumber(redis.call('GET', KEYS[2]) or '0')

-- Of each run: all that it was granted, all that it has given back, what it holds of that; as ' held' the sum of the last.
local stored = redis.call('HGET', KEYS[4], ARGV[1])
if not stored and not limit then return { spent, false, 0, 0 } end
local granted, returned, held = string.match(stored or '0 0 0', '^(%d+) (%d+) (%d+)$')
local others = tonumber(redis.call('HGET', KEYS[4], ' held') or '0') - tonumber(held)
if ARGV[6] == '' then
  redis.call('HDEL', KEYS[4], ARGV[1])
  redis.call('HSET', KEYS[4], ' held', string.format('%.0f', others))
  if redis.call('HLEN', KEYS[4]) == 1 then redis.call('DEL', KEYS[4]) end
  return { spent, limit or false, 0, others }
end
returned = math.max(tonumber(returned), tonumber(ARGV[5]))
granted = math.max(tonumber(granted), returned + used)
held = granted - returned - used
local share = tonumber(ARGV[6])
if limit and share > 0 then
  local least = tonumber(ARGV[7])
  local part = math.max(math.floor((limit - spent) / share), least)
  local give = math.min(part - held, limit - spent - others - held)
  -- Not each token by itself as the run uses them, and nothing that is too little for a request.
  if give > 0 and held + give >= least and (held < least or 2 * held < part) then granted, held = granted + give, held + give end
end
redis.call('HSET', KEYS[4], ARGV[1], string.format('%.0f %.0f %.0f', granted, returned, held), ' held', string.format('%.0f', others + held))
return { spent, limit or false, granted, others }
