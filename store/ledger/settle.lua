-- Further KEYS: op:<O>, after:<O>. ARGV: operation, token, the attempt's counter, status, outcome, result, number of its
-- findings, number of its change sets, these, number of change sets that these are built on, (one of them, those built on it)…, number of escalations
-- among the events, what the conductor hears of each, (event age, event body)…
-- The token stays with the ended operation, so that its holder learns that a settle it sends again was applied.
local op_key = KEYS[own_keys + 1]
local op = redis.call('HMGET', op_key, 'status', 'token', 'cause')
if op[2] ~= ARGV[2] then return 'lost' end
if has_ended[op[1]] then return 'already' end
if op[1] ~= 'running' then return 'lost' end

local at = now()
local change_sets = tonumber(ARGV[8])
for i = 9, 8 + change_sets do redis.call('HSET', keys.change_sets, ARGV[i], ARGV[1]) end
local first_base = 10 + change_sets
local bases = tonumber(ARGV[first_base - 1])
for i = first_base, first_base + 2 * bases - 2, 2 do
  local before = redis.call('HGET', keys.built_on, ARGV[i])
  redis.call('HSET', keys.built_on, ARGV[i], before and before .. ' ' .. ARGV[i + 1] or ARGV[i + 1])
end
redis.call('HSET', op_key, 'n', ARGV[3])
if string.find(ARGV[5], '"recordHash":"', 1, true) then redis.call('DEL', prefix .. 'talk:' .. ARGV[1]) end
local findings = tonumber(ARGV[7])
if findings > 0 then
  redis.call('ZADD', keys.reported, redis.call('ZSCORE', keys.operations, ARGV[1]), ARGV[1])
  redis.call('HINCRBY', keys.run, 'findings', findings)
end
local first_message = first_base + 2 * bases + 1
local first_event = first_message + tonumber(ARGV[first_message - 1])
if first_event > first_message and not is_stopped() and redis.call('HGET', keys.run, 'conductor') == 'open' then
  local message, seq = first_message, tonumber(redis.call('HGET', keys.run, 'seq'))
  for i = first_event + 1, #ARGV, 2 do
    seq = seq + 1
    if name_of(ARGV[i]) == 'escalation.raised' then
      tell_conductor('{"seq":' .. text(seq) .. ',' .. string.sub(ARGV[message], 2))
      message = message + 1
    end
  end
end
local ending = {
  status = ARGV[4], outcome = ARGV[5], result = ARGV[6], events = ARGV, first_event = first_event, cause = op[3],
  change_sets = change_sets,
}
end_operation(ARGV[1], 'running', at, ending)
advance_run(at)
return 'settled'
