"""vLLM's OpenAI server on the CPU, until standard input ends: it and its engine never outlive who started it.

Arguments: model folder, model name, port, threads, sequences at once, context of each, then vLLM's own flags.
"""

import os
import runpy
import signal
import sys
import threading


def end_with_starter():
    sys.stdin.read()
    os.killpg(0, signal.SIGKILL)


def serve(model, name, port, threads, sequences, context, *flags):
    os.setpgid(0, 0)
    threading.Thread(target=end_with_starter, daemon=True).start()
    os.environ.update(VLLM_CPU_KVCACHE_SPACE="1", OMP_NUM_THREADS=threads, VLLM_CPU_OMP_THREADS_BIND="nobind")
    os.environ.update(HF_HUB_OFFLINE="1", VLLM_NO_USAGE_STATS="1", VLLM_WORKER_MULTIPROC_METHOD="spawn")
    # Programs that it starts lie beside this Python.
    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")
    listen = ["--host", "127.0.0.1", "--port", port, "--served-model-name", name]
    limits = ["--dtype", "float32", "--max-model-len", context, "--max-num-seqs", sequences, "--enforce-eager"]
    # Not vllm's own program: it looks for a package of the name vllm, and the CPU build has another.
    sys.argv = ["api_server", "--model", model, *listen, *limits, *flags]
    runpy.run_module("vllm.entrypoints.openai.api_server", run_name="__main__")


if __name__ == "__main__":
    serve(*sys.argv[1:])
