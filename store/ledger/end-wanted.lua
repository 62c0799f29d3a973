-- KEYS: index of the runs with retries that people want. ARGV: run, the time it was noted. Somebody may have noted it again since.
if redis.call('ZSCORE', KEYS[1], ARGV[1]) ~= ARGV[2] then return 'again' end
redis.call('ZREM', KEYS[1], ARGV[1])
return 'ended'
