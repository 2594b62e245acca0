/** `npm start`: the operator on an embedded cluster. `npm run dev` restarts it on each change and keeps the cluster. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'

const kubeconfig = fileURLToPath(new URL('../kubeconfig.yaml', import.meta.url))
const program = fileURLToPath(new URL('./operator.ts', import.meta.url))

const cluster = await startEmbeddedCluster()
await cluster.writeKubeconfig(kubeconfig)
console.log(`cluster is ready at ${cluster.url}\n\n  kubectl --kubeconfig kubeconfig.yaml get sprockets,configmaps\n`)

const flags = process.argv.includes('--watch') ? ['--watch', '--watch-preserve-output'] : []
const operator = spawn(process.execPath, [...flags, program], {
  stdio: 'inherit',
  env: { ...process.env, KUBECONFIG: kubeconfig },
})
// A terminal sends Ctrl-C to both.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => operator.kill('SIGTERM'))
const [code] = await once(operator, 'close')
await cluster.stop()
process.exitCode = code ?? 0
