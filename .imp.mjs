import { enableCompileCache } from 'node:module'
enableCompileCache('/tmp/st/cc')
const c0 = process.cpuUsage(), t0 = performance.now()
for (const m of process.argv.slice(2)) await import(m.startsWith('/') || m.startsWith('node:') ? m : import.meta.resolve(m))
const c = process.cpuUsage(c0)
console.log(process.argv.slice(2).join(' ').replaceAll('/work/start/',''), 'cpu', ((c.user + c.system)/1000).toFixed(0), 'wall', (performance.now() - t0).toFixed(0))
