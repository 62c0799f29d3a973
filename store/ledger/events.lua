-- The second part: writing the run's events.

-- The tokens that a model's answer has cost, for its event's body; 0 for any other. Inside a text the quotes are escaped, so
-- that these cannot match there.
local answered = '{"e":"model.responded"'
local function tokens_of(body)
  if string.sub(body, 1, #answered) ~= answered then return 0 end
  local prompt, completion = string.match(body, '"prompt_tokens":(%d+)'), string.match(body, '"completion_tokens":(%d+)')
  return tonumber(prompt or '0') + tonumber(completion or '0')
end

-- Appends events, a flat list of age in ms and body that begins at `first` (by default 1), and returns the number of the last
-- one. What answers of models among them have cost counts for the run in the same step.
local function emit(at, events, first)
  first = first or 1
  local count = (#events - first + 1) / 2
  local tokens = 0
  for i = first + 1, #events, 2 do tokens = tokens + tokens_of(events[i]) end
  if tokens > 0 then redis.call('HINCRBY', keys.run, 'tokens', text(tokens)) end
  local last = redis.call('HINCRBY', keys.run, 'seq', count)
  for i = 1, count do
    local age = first + 2 * i - 2
    redis.call('XADD', keys.events, text(last - count + i) .. '-0', 'm', text(at - tonumber(events[age])), 'j', events[age + 1])
  end
  return last
end

-- The body of an event that the ledger itself reports, in the short names of stored-events.ts.
local function body_of(name, origin, operation, data)
  local status = nil
  if data.error_code then status = 'error' end
  return cjson.encode({
    e = name, p = 'execution', s = status, k = origin[1], i = origin[2], x = data.error_code,
    o = operation.id, n = operation.node, a = operation.bundle, g = tonumber(operation.generation), j = data,
  })
end

-- What an event's body says of its operation.
local function described(id)
  local fields = redis.call('HMGET', prefix .. 'op:' .. id, 'nid', 'bundle', 'gen')
  return { id = id, node = fields[1], bundle = fields[2], generation = fields[3] or nil }
end

-- Adds the path and the name of the operation's node to `data`, for people who read the events.
local function with_node(id, data)
  local node = cjson.decode(redis.call('GET', prefix .. 'node:' .. id))
  data.path = node.path
  data.qualified_name = node.qualifiedName
  return data
end
