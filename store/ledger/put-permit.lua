-- KEYS: collection window, permits, epoch. ARGV: milliseconds. Answers how long the open window may last, 0 with a permit,
-- and the epoch, which changes only while a window is open.
-- The permits of all processes share one key, which lasts as long as the longest of them.
local epoch = redis.call('GET', KEYS[3]) or ''
local left = redis.call('PTTL', KEYS[1])
if left > 0 then return { left, epoch } end
if redis.call('PTTL', KEYS[2]) < tonumber(ARGV[1]) then redis.call('SET', KEYS[2], '1', 'PX', ARGV[1]) end
return { 0, epoch }
