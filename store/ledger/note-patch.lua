-- ARGV: kind of patch, number of the last decision in it, the note as JSON. Answers 'older' when one of as many or more
-- decisions is noted; a fault gives way to another try.
local refused = refusal()
if refused then return refused end
local field = 'patch:' .. ARGV[1]
local before = redis.call('HGET', keys.run, field)
if before then
  local noted = cjson.decode(before)
  local is_fault = noted.errorCode ~= nil and noted.decided == tonumber(ARGV[2])
  if noted.decided >= tonumber(ARGV[2]) and not is_fault then return 'older' end
end
redis.call('HSET', keys.run, field, ARGV[3])
return 'noted'
