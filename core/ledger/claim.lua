-- Further KEYS: op:<O>, node:<O>. ARGV: operation, dispatch, token, lease in ms, origin kind, origin id
local refused = refusal()
if refused == 'unknown' then return { 'gone' } end
if refused then return { refused } end
local id, token, origin = ARGV[1], ARGV[3], { ARGV[5], ARGV[6] }
local op_key = KEYS[own_keys + 1]
local fields = redis.call('HMGET', op_key, 'status', 'dispatch', 'token', 'attempt', 'bundle', 'hash', 'nid', 'store_faults',
  'suspension', 'question', 'work')
local status, attempt = fields[1], tonumber(fields[4] or '0')
if not status or fields[2] ~= ARGV[2] or (status ~= 'dispatched' and status ~= 'running') then return { 'gone' } end

-- It goes on from where it was suspended, also when the attempt that did so before was lost or handed back. Nothing else
-- than its answer can have made it ready again.
local asked, answer = fields[10], nil
if asked then answer = cjson.decode(redis.call('HGET', keys.questions, asked .. ':end')).text end

local at = now()
if status == 'running' and fields[3] ~= token then return { 'busy' } end
if status == 'dispatched' then
  if is_stopped() then
    cancel_operation(id, 'dispatched', at, origin)
    go_on(at)
    return { 'gone' }
  end
  attempt = attempt + 1
  change_status(id, 'dispatched', 'running')
  redis.call('HSET', op_key, 'token', token, 'attempt', attempt, 'n', 0, 'started', text(at))
  local operation = { id = id, node = fields[7], bundle = fields[5] }
  local data = { attempt = attempt, dispatch = tonumber(ARGV[2]), resumes = asked or nil }
  emit(at, { 0, body_of('operation.started', origin, operation, data) })
end
redis.call('ZADD', keys.leases, text(at + tonumber(ARGV[4])), id)
local run = redis.call('HMGET', keys.run, 'project', 'snapshot', 'traceparent')
return {
  'claimed', attempt, fields[5], fields[6], redis.call('GET', KEYS[own_keys + 2]), run[1], run[2] or '', run[3] or '',
  tonumber(fields[8] or '0'), asked or '', fields[9] or '', answer or '', fields[11] or 'agent',
}
