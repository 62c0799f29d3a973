-- A further key: where the decisions are kept, those of people or those of the policy.
-- ARGV: number of the last decision that the caller has seen, command, number of
-- counters, (counter, change)…, then per decision: change set, what is kept of it, body of its event. Answers the number of the
-- first event and the time, or 'changed' when somebody else has decided since.
local refused = refusal()
if refused then return refused end
local before = redis.call('HMGET', keys.run, 'decided', 'decided_command', 'decided_first', 'decided_at')
if before[2] == ARGV[2] then return { 'first', before[3], 'at', before[4] } end
if (before[1] or '0') ~= ARGV[1] then return 'changed' end
local at = now()
local head = 3 + 2 * tonumber(ARGV[3])
local events = {}
for i = head + 3, #ARGV, 3 do
  events[#events + 1] = 0
  events[#events + 1] = ARGV[i]
end
local last = emit(at, events)
local first = last - (#ARGV - head) / 3 + 1
for i = head + 1, #ARGV, 3 do
  local number = first + (i - head - 1) / 3
  redis.call('HSET', KEYS[own_keys + 1], ARGV[i], text(number) .. ' ' .. text(at) .. ' ' .. ARGV[i + 1])
end
for i = 4, head, 2 do redis.call('HINCRBY', keys.verdicts, ARGV[i], ARGV[i + 1]) end
redis.call('HSET', keys.run, 'decided', text(last), 'decided_command', ARGV[2], 'decided_first', text(first), 'decided_at', text(at))
return { 'first', text(first), 'at', text(at) }
