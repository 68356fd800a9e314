-- Sends prepared bodies, one a line, each of them once: thread i of n takes every n-th line.
-- Then says as JSON how many were answered, how, and how soon.
local threads = 0

function setup(thread)
   thread:set("first", threads)
   threads = threads + 1
end

function init(arguments)
   wrk.method = "POST"
   wrk.headers["Content-Type"] = "application/json"
   bodies, at = {}, 0
   local number, every = 0, tonumber(arguments[2])
   pause = tonumber(arguments[3])
   if pause > 0 then delay = function() return pause end end
   for line in io.lines(arguments[1]) do
      if number % every == first then bodies[#bodies + 1] = line end
      number = number + 1
   end
end

function request()
   at = at + 1
   -- What was sent before is a repetition, which is answered too; the bench says if there are any.
   return wrk.format(nil, nil, nil, bodies[(at - 1) % #bodies + 1])
end

function done(summary, latency, requests)
   local errors = summary.errors
   io.write(string.format(
      '{"requests":%d,"seconds":%.6f,"refused":%d,"broken":%d,"p50":%.3f,"p99":%.3f}\n',
      summary.requests, summary.duration / 1e6, errors.status,
      errors.connect + errors.read + errors.write + errors.timeout,
      latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
