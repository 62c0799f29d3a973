-- ARGV: request, answer, the answer as events have it, command, origin kind and id of the person, origin kind, origin
-- id, the verdict on a call ('' for an answer to another question). Answers the question and how it ended as named fields, or
-- why the answer is not taken.
local refused = refusal()
if refused then return refused end
local request, at = ARGV[1], now()
local stored = redis.call('HMGET', keys.questions, request, request .. ':end')
if not stored[1] then return 'no_question' end
local ending = stored[2] and cjson.decode(stored[2])
if ending and ending.command == ARGV[4] then return { 'question', stored[1], 'ending', stored[2] } end
if is_stopped() then return 'over' end
if ending then return ending.status end

local question = cjson.decode(stored[1])
local id = question.operationId ~= cjson.null and question.operationId
if id and tonumber(redis.call('ZSCORE', keys.waiting, id)) <= at then return 'expired' end
local verdict = ARGV[9] ~= '' and ARGV[9] or nil
if (question.call ~= nil) ~= (verdict ~= nil) then return 'other_kind' end
local fits = question.choices == cjson.null
if not fits then
  for _, choice in ipairs(question.choices) do fits = fits or choice == ARGV[2] end
end
if not fits then return 'no_choice' end

local by, origin = ARGV[5] .. '/' .. ARGV[6], { ARGV[7], ARGV[8] }
local given = { status = 'answered', text = ARGV[2], verdict = verdict, at = at, by = by, command = ARGV[4] }
if id then
  answer_question(request, id, given, ARGV[3], origin)
else
  close_question(request, given)
  redis.call('HSET', keys.run, 'own_questions', (string.gsub(own_questions(), request .. ' ', '')))
  local answer = { request_id = request, answer = ARGV[3], by = by }
  emit(at, { 0, body_of('human_input.answered', { ARGV[5], ARGV[6] }, { bundle = question.bundle, cause = question.seq }, answer) })
  local act = (question.acts or {})[ARGV[2]]
  if act == 'retry' then redis.call('HSET', keys.run, 'wants_retry', '1') end
  if act == 'cancel' then
    redis.call('HDEL', keys.run, 'wants_retry')
    stop_run({ 'cancel_reason', 'the answer to ' .. request, 'cancel_code', '', 'cancel_by', by, 'let_finish', '0' })
  end
end
if verdict == 'allow_for_run' then
  redis.call('HSET', keys.questions, gate_of(question), by)
  redis.call('HSET', keys.run, 'allowing', '1')
  wake_allowed(at, origin)
end
advance_run(at)
return { 'question', stored[1], 'ending', redis.call('HGET', keys.questions, request .. ':end') }
