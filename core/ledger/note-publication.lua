-- ARGV: the version that the caller has read, the next one as JSON, then the events' ages and bodies. Answers 'older' when
-- another version is kept.
local refused = refusal()
if refused then return refused end
local before = redis.call('HMGET', keys.run, 'publication', 'publication_version')
if before[1] == ARGV[2] then return 'noted' end
if (before[2] or '0') ~= ARGV[1] then return 'older' end
redis.call('HSET', keys.run, 'publication', ARGV[2], 'publication_version', text(tonumber(ARGV[1]) + 1))
local events = {}
for i = 3, #ARGV do events[#events + 1] = ARGV[i] end
if #events > 0 then emit(now(), events) end
return 'noted'
