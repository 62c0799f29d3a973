-- ARGV: id of a part of the accepted changes, number of the last decision that was read for it, the note as JSON, the most parts
-- that are kept. Answers 'older' when a note of as many or more decisions is there,
-- unless that is a fault, which gives way to another try; else, for each note that is kept no longer, its part and its composition ('' for a fault).
local refused = refusal()
if refused then return refused end
local kept, gone = {}, {}
local function forget(note)
  gone[#gone + 1] = note.part
  gone[#gone + 1] = note.compositionKey or ''
end
for _, note in ipairs(cjson.decode(redis.call('HGET', keys.run, 'parts') or '[]')) do
  if note.part ~= ARGV[1] then
    kept[#kept + 1] = note
  else
    local is_fault = note.errorCode ~= nil and note.decided == tonumber(ARGV[2])
    if note.decided >= tonumber(ARGV[2]) and not is_fault then return 'older' end
    forget(note)
  end
end
kept[#kept + 1] = cjson.decode(ARGV[3])
while #kept > tonumber(ARGV[4]) do forget(table.remove(kept, 1)) end
redis.call('HSET', keys.run, 'parts', cjson.encode(kept))
return gone
