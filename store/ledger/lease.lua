-- KEYS: lease. ARGV: token, milliseconds to renew it for, or 0 to end it. Answers 1 while the token holds it, else 0.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then return redis.call('DEL', KEYS[1]) end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
