-- Further KEYS: op:<O>, node:<O>. ARGV: operation, dispatch, token, lease in ms, times it may be lost, code for that, code for
-- cancelled, origin kind, origin id
-- An attempt that ends here did not settle: its token goes, so that its holder is told it has lost the operation.
local refused = refusal()
if refused == 'unknown' then return { 'gone' } end
if refused then return { refused } end
local id, token, lease_ms = ARGV[1], ARGV[3], tonumber(ARGV[4])
local origin = { ARGV[8], ARGV[9] }
local op = KEYS[10]
local fields = redis.call('HMGET', op, 'status', 'dispatch', 'token', 'attempt', 'bundle', 'hash', 'nid')
local status, attempt = fields[1], tonumber(fields[4] or '0')
local operation = { id = id, node = fields[7], bundle = fields[5] }
if not status or fields[2] ~= ARGV[2] or (status ~= 'dispatched' and status ~= 'running') then return { 'gone' } end

local at = now()
local run = redis.call('HMGET', keys.run, 'status', 'cancel', 'project', 'snapshot', 'traceparent')
local function claimed(number)
  redis.call('ZADD', keys.leases, text(at + lease_ms), id)
  return { 'claimed', number, fields[5], fields[6], redis.call('GET', KEYS[11]), run[3], run[4] or '', run[5] or '' }
end
if status == 'running' then
  if fields[3] == token then return claimed(attempt) end
  local expires = tonumber(redis.call('ZSCORE', keys.leases, id) or '0')
  if expires > at then return { 'later', expires - at } end
end

if run[2] == '1' or run_has_ended[run[1]] then
  local name = 'operation.skipped'
  if status == 'running' then name = 'operation.ended' end
  local data = { status = 'cancelled', cause = 'run', attempt = attempt, error_code = ARGV[7] }
  end_operation(id, status, at, {
    status = 'cancelled',
    outcome = bare_outcome('cancelled', ARGV[7], 'the run was cancelled'),
    events = { 0, body_of(name, origin, operation, data) },
  })
  redis.call('HDEL', op, 'token')
  go_on(at)
  return { 'gone' }
end

if status == 'running' then
  local lost = redis.call('HINCRBY', op, 'lost', 1)
  if lost >= tonumber(ARGV[5]) then
    local reason = 'its worker was lost ' .. lost .. ' times'
    local data = { status = 'failed', attempt = attempt, reason = reason, error_code = ARGV[6] }
    end_operation(id, status, at, {
      status = 'failed',
      outcome = bare_outcome('failed', ARGV[6], reason),
      events = { 0, body_of('operation.failed', origin, operation, data), 0, body_of('operation.ended', origin, operation, data) },
    })
    redis.call('HDEL', op, 'token')
    go_on(at)
    return { 'gone' }
  end
  emit(at, { 0, body_of('operation.retried', origin, operation, { attempt = attempt, reason = 'lost' }) })
else
  change_status(id, 'dispatched', 'running')
end
attempt = attempt + 1
redis.call('HSET', op, 'token', token, 'attempt', attempt, 'n', 0, 'started', text(at))
emit(at, { 0, body_of('operation.started', origin, operation, { attempt = attempt, dispatch = tonumber(ARGV[2]) }) })
return claimed(attempt)
