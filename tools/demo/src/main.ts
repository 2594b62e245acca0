/** `npm start`: a cluster, the operators on it, samples, and a live log of what happens. */
import { enableCompileCache } from 'node:module'
import { EXIT, port } from '@reeve/cli'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import type { DemoFlags } from './demo.ts'

enableCompileCache()

/** Exit codes above this encode the number of a signal. */
const SIGNALLED = 128

const program = new Command('npm start --')
  .description('Shows the operators running. Without options: on an embedded cluster, until Ctrl-C.')
  .addOption(
    new Option('--cluster <kind>', 'where to run: an embedded cluster, a real control plane, or your current context')
      .choices(['embedded', 'real', 'kubeconfig'])
      .default('embedded'),
  )
  .option('--once', 'end with exit code 0 as soon as the samples are ready', false)
  .option('--timeout <seconds>', 'with --once: when to stop waiting', seconds, 60)
  .option('--port <port>', 'port of the embedded cluster; 0 takes a free one', port, 0)
  .option('--console-port <port>', 'port of the console; 0 takes a free one', port, 0)
  .addOption(
    new Option('--log-level <level>', 'also show the operators’ logs').choices(['debug', 'info', 'warn', 'error']),
  )
  .addHelpText(
    'after',
    `
Examples:
  npm start                              watch the operators work; Ctrl-C ends it
  npm start -- --once                    for scripts: exit code 0 when the samples are ready
  npm start -- --cluster=real            on a real kube-apiserver (needs Go the first time)
  npm start -- --cluster=kubeconfig      on the cluster kubectl talks to

Exit codes:
  0   stopped by Ctrl-C, or the samples are ready
  1   something went wrong, or the samples were not ready in time
  64  the command line is invalid`,
  )
  .exitOverride()

try {
  program.parse()
  const { demo } = await import('./demo.ts')
  const code = await demo(program.opts<DemoFlags>())
  // On a second signal, exit without waiting for the clean-up.
  if (code > SIGNALLED) process.exit(code)
  process.exitCode = code
} catch (error) {
  if (!(error instanceof CommanderError)) throw error
  process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage
}

function seconds(text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new InvalidArgumentError('It must be a number of seconds above 0.')
  return value
}
