/** `webapp-operator run`: the operator in a process of its own. */
import { addRunOptions, append, type RunOptions, type Subcommand } from '@reeve/cli'
import { NAME } from '../render/labels.ts'

interface WebAppRunOptions extends RunOptions {
  readonly watchNamespace?: readonly string[]
}

const EXAMPLES = `
Examples:
  webapp-operator run
  webapp-operator run --watch-namespace shop --watch-namespace blog
  webapp-operator run --leader-elect --webhook   as the chart starts each replica`

/** The subcommand. */
export const command: Subcommand<WebAppRunOptions> = {
  configure: (cli) =>
    void addRunOptions(
      cli.option('--watch-namespace <name>', 'watch this namespace only; may be repeated', append),
      NAME,
    ).addHelpText('after', EXAMPLES),
  run: async (options, context) => {
    const [{ openOperatorProcess }, { webAppOperator }] = await Promise.all([
      import('@reeve/cli/operator-process'),
      import('../operator.ts'),
    ])
    await using own = await openOperatorProcess(NAME, options, context)
    const { manager } = webAppOperator.create({
      ...own.frame,
      concurrency: options.concurrency,
      namespaces: options.watchNamespace,
      webhook: own.webhook('mutating', 'validating'),
    })
    return await context.untilSignal((signal) => manager.run(signal))
  },
}
