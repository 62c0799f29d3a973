-- ARGV: kind of patch, number of the last decision in it, the note as JSON. Answers 'older' when one of as many or more
-- decisions is noted.
local refused = refusal()
if refused then return refused end
local field = 'patch:' .. ARGV[1]
local before = redis.call('HGET', keys.run, field)
if before and cjson.decode(before).decided >= tonumber(ARGV[2]) then return 'older' end
redis.call('HSET', keys.run, field, ARGV[3])
return 'noted'
