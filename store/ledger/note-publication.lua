-- A further key: the publication, which begins with its version. ARGV: the version that the caller has read, what is kept of the next
-- one, then the events' ages and bodies. Answers 'older' when another version is kept.
local refused = refusal()
if refused then return refused end
local before = redis.call('GET', KEYS[own_keys + 1]) or ''
if before == ARGV[2] then return 'noted' end
-- As publications.ts reads it: what somebody else has written there is of version 0.
local version = string.match(before, '^([1-9]%d*) ') or '0'
if #version > 15 then version = '0' end
if version ~= ARGV[1] then return 'older' end
redis.call('SET', KEYS[own_keys + 1], ARGV[2])
-- It follows from what came last: a decision, or the composition of the patch.
local run = redis.call('HMGET', keys.run, 'decided', 'composed')
local cause = math.max(tonumber(run[1] or '0'), tonumber(run[2] or '0'))
emit(now(), ARGV, 3, cause > 0 and cause or nil)
return 'noted'
