-- Further KEYS: op:<O>, node:<O>. ARGV: operation, dispatch, token, lease in ms, origin kind, origin id
-- Answers named fields, name and value in turn (attempt.ts).
local refused = refusal()
if refused == 'unknown' then return { 'kind', 'gone' } end
if refused then return { 'kind', refused } end
local id, token, origin = ARGV[1], ARGV[3], { ARGV[5], ARGV[6] }
local op_key = KEYS[own_keys + 1]
local op = redis.call('HMGET', op_key, 'status', 'dispatch', 'token', 'attempt', 'bundle', 'hash', 'nid', 'store_faults',
  'suspension', 'question', 'work', 'handed_back', 'model_faults', 'busy_faults', 'on', 'repeats', 'started', 'gen', 'cause', 'item')
local status, attempt, bundle, request = op[1], tonumber(op[4] or '0'), op[5], op[10]
local is_current = op[2] == ARGV[2] and (status == 'dispatched' or status == 'running')
if not is_current then return { 'kind', 'gone' } end
if status == 'running' and op[3] ~= token then return { 'kind', 'busy' } end

local at = now()
local run = redis.call('HMGET', keys.run, 'cancel', 'status', 'project', 'snapshot', 'traceparent', 'budget', 'granted')
if status == 'dispatched' then
  if is_stopped(run) then
    cancel_operation(id, 'dispatched', at, origin)
    advance_run(at)
    return { 'kind', 'gone' }
  end
  attempt = attempt + 1
  -- An attempt that resumes has the prompts of the last one that did not. Once there is a record, every attempt resumes.
  if op[9] then redis.call('HSETNX', op_key, 'begun', op[17]) end
  change_status(id, 'dispatched', 'running', 'token', token, 'attempt', attempt, 'n', 0, 'started', text(at))
  local operation = { id = id, node = op[7], bundle = bundle, generation = op[18] or nil, cause = op[19], item = op[20] or nil }
  local data = { attempt = attempt, dispatch = tonumber(ARGV[2]), resumes = request or nil }
  follow(id, emit(at, { 0, body_of('operation.started', origin, operation, data) }))
end
redis.call('ZADD', keys.leases, text(at + tonumber(ARGV[4])), id)

-- An operation that was suspended resumes from there, also when the attempt that did so before was lost or handed back.
-- Only an answer makes such an operation ready again, so there is one; a record of a later hand-back has it already.
local ending = request and not op[12] and cjson.decode(redis.call('HGET', keys.questions, request .. ':end'))
return {
  'kind', 'claimed', 'attempt', attempt, 'bundle', bundle, 'bundleHash', op[6],
  'node', redis.call('GET', KEYS[own_keys + 2]), 'work', op[11], 'storeFaults', op[8],
  'projectId', run[3], 'snapshotId', run[4], 'traceparent', run[5],
  'recordHash', op[9], 'answer', ending and ending.text, 'verdict', ending and ending.verdict or false, 'modelFaults', op[13], 'busyFaults', op[14],
  'startsFrom', op[15], 'repeats', op[16], 'generation', op[18], 'itemId', op[20], 'objective', op[20] and item_field(op[20], 'objective'),
  'limited', (run[6] or run[7] or op[20] and room_of(op[20])) and '1',
}
