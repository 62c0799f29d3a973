-- ARGV: request, answer, the answer as events have it, command, origin kind and id of the person, origin kind, origin
-- id. Answers the question and how it ended as named fields, or why the answer is not taken.
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
local id = question.operationId
local expires = redis.call('ZSCORE', keys.waiting, id)
if tonumber(expires) <= at then return 'expired' end
local fits = question.choices == cjson.null
if not fits then
  for _, choice in ipairs(question.choices) do fits = fits or choice == ARGV[2] end
end
if not fits then return 'no_choice' end

local by = ARGV[5] .. '/' .. ARGV[6]
close_question(request, { status = 'answered', text = ARGV[2], at = at, by = by, command = ARGV[4] })
make_ready(id, 'waiting', at, 0)
report(id, 'human_input.answered', { ARGV[5], ARGV[6] }, { request_id = request, answer = ARGV[3], by = by }, at)
report(id, 'operation.resumed', { ARGV[7], ARGV[8] }, with_node(id, { request_id = request }), at)
advance_run(at)
return { 'question', stored[1], 'ending', redis.call('HGET', keys.questions, request .. ':end') }
