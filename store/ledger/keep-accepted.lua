-- KEYS: last published seq per run, usage of the project on a day. ARGV: run, seconds to keep the usage, (agent, accepted changes)…
-- Forgets the seq, and adds the changes to the usage with it: both happen once, however often the run is forgotten.
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
for i = 3, #ARGV, 2 do redis.call('HINCRBY', KEYS[2], ARGV[i] .. ' accepted', ARGV[i + 1]) end
if #ARGV > 2 then redis.call('EXPIRE', KEYS[2], ARGV[2]) end
return 1
