-- ARGV: id of a retry of the run; 'claim', 'made' or 'asked'; of a claim the retries of the run that the caller has seen.
-- 'claim' is for a retry that is to be started once, whoever starts it: answers the id to create it under. That is the one that was
-- claimed before, as long as it may not be there, else the id given; 'changed' when the run has had another retry since.
-- 'made': the claimed one is there. 'asked': somebody starts one that nobody has claimed.
local refused = refusal()
if refused then return refused end
local run = redis.call('HMGET', keys.run, 'retries', 'retry_claim')
local noted, claimed = run[1] or '', run[2]
if ARGV[2] == 'claim' then
  if claimed then return claimed end
  if noted ~= ARGV[3] then return 'changed' end
  redis.call('HSET', keys.run, 'retry_claim', ARGV[1])
elseif claimed == ARGV[1] and ARGV[2] == 'made' then
  redis.call('HDEL', keys.run, 'retry_claim')
end
if not string.find(' ' .. noted .. ' ', ' ' .. ARGV[1] .. ' ', 1, true) then
  -- The newest hundred or so.
  if #noted > 2000 then noted = string.match(noted, ' (.*)') end
  if noted ~= '' then noted = noted .. ' ' end
  redis.call('HSET', keys.run, 'retries', noted .. ARGV[1])
end
return ARGV[1]
