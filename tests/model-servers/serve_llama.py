"""llama.cpp's server over a GGUF file, until standard input ends: it never outlives who started it.

Arguments: port, model file, chat template file, threads, slots, context of all slots. Prints "ready" and what it is.
"""

import os
import sys
import threading

import xllamacpp


def end_with_starter():
    sys.stdin.read()
    os._exit(0)


port, model, template, threads, slots, context = sys.argv[1:]
threading.Thread(target=end_with_starter, daemon=True).start()
params = xllamacpp.CommonParams()
params.model.path = model
params.model_alias = {"gemma-3-270m"}
params.hostnames = ["127.0.0.1"]
params.port = int(port)
params.n_parallel = int(slots)
params.n_ctx = int(context)
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(threads)
params.use_jinja = True
params.ui = False
if template:
    with open(template) as file:
        params.chat_template = file.read()
server = xllamacpp.Server(params)
print("ready", flush=True)
threading.Event().wait()
