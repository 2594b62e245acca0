/** `npm start`: a cluster, the operators on it, samples, and the story of what happens, told live. */
import { enableCompileCache } from 'node:module'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import type { DemoFlags } from './demo.ts'

enableCompileCache()

/** The exit code for a command line that makes no sense. */
const USAGE = 64

const program = new Command('npm start --')
  .description('Shows the operators at work. Without options: on an embedded cluster, until Ctrl-C.')
  .addOption(
    new Option('--cluster <kind>', 'where to run: a cluster of its own, a real control plane, or your current context')
      .choices(['embedded', 'real', 'kubeconfig'])
      .default('embedded'),
  )
  .option('--once', 'end with exit code 0 as soon as the samples are ready', false)
  .option('--timeout <seconds>', 'with --once: when to give up', seconds, 60)
  .option('--port <port>', 'port of the embedded cluster; 0 takes a free one', Number, 0)
  .option('--log-level <level>', 'also show the operators’ logs: debug, info, warn or error')
  .addHelpText(
    'after',
    `
Examples:
  npm start                              watch the operators work; Ctrl-C ends it
  npm start -- --once                    for scripts: exit code 0 when the samples are ready
  npm start -- --cluster=real            on a real kube-apiserver (needs Go the first time)
  npm start -- --cluster=kubeconfig      on the cluster kubectl talks to`,
  )
  .exitOverride()

try {
  program.parse()
  const { demo } = await import('./demo.ts')
  process.exitCode = await demo(program.opts<DemoFlags>())
} catch (error) {
  if (!(error instanceof CommanderError)) throw error
  process.exitCode = error.exitCode === 0 ? 0 : USAGE
}

function seconds(text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new InvalidArgumentError('It must be a number of seconds above 0.')
  return value
}
