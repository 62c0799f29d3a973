-- ARGV: generation that the caller has seen, command, what is wanted as JSON, error policy or '', event age, event body.
-- Begins the next generation of an ended run: it is planned once more, over the snapshot that it has. All that it has made, what was
-- decided and what was published stays. Answers named fields: `generation`, and `seq`, the number of the event. `changed`: somebody else
-- has begun one since; `open`: the run has not ended.
local refused = refusal()
if refused then return refused end
local run = redis.call('HMGET', keys.run, 'status', 'reopened_by', 'reopened', 'reopened_seq', 'snapshot', 'budget',
  'budget_base')
if run[2] == ARGV[2] then return { 'generation', run[3], 'seq', run[4] } end
local generation = generation_of_run()
if generation ~= tonumber(ARGV[1]) then return 'changed' end
if not run_has_ended[run[1]] then return 'open' end
redis.call('HDEL', keys.run, 'ended', 'error', 'reason', 'composing', 'environment', 'wake', 'planned', 'slices', 'plan_hash',
  'cancel', 'cancel_reason', 'cancel_code', 'cancel_by', 'let_finish', 'stopped_by', 'conductor', 'conductor_code', 'conductor_reason',
  'conductor_waits', 'lacking')
-- Of its project's day nothing is left to it: that was given back when it ended.
return_room(0)
local begins = run[5] and { 'running', 'discovery' } or { 'queued', 'snapshot' }
redis.call('HSET', keys.run, 'status', begins[1], 'phase', begins[2], 'generation', text(generation + 1), 'wanted', ARGV[3])
if ARGV[4] ~= '' then redis.call('HSET', keys.run, 'policy', ARGV[4]) end
-- It may use for itself as much as the generation before it.
local used = used_tokens()
redis.call('HSET', keys.run, 'budget_base', text(used))
if run[6] then
  -- Somebody may have set less than the generations before it had used.
  local own = math.max(tonumber(run[6]) - tonumber(run[7] or '0'), 1)
  redis.call('HSET', keys.run, 'budget', text(used + own))
end
local at = now()
-- Inside a text the quotes are escaped, so that this cannot match there.
local by_decisions = string.find(ARGV[3], '"byDecisions":true', 1, true)
local seq = text(emit(at, ARGV, 5, by_decisions and redis.call('HGET', keys.run, 'decided')))
-- A conductor that decides again hears of it, after what it has not heard yet. What it had dispatched is still to be planned.
if redis.call('HEXISTS', keys.run, 'agenda_version') == 1 then
  redis.call('RPUSH', keys.inbox, '{"kind":"reopened","seq":' .. seq .. '}')
  redis.call('HINCRBY', keys.run, 'messages', 1)
end
redis.call('HSET', keys.run, 'reopened_at', text(at), 'reopened_by', ARGV[2], 'reopened', text(generation + 1), 'reopened_seq', seq)
return { 'generation', text(generation + 1), 'seq', seq }
