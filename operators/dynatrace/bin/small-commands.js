// What `image-entry.cjs` runs for the small subcommands. Bundled as CommonJS, which starts fastest.
import { runCommandLine } from '@reeve/cli'
import { commandLine } from '../src/cli/command-line.ts'
import { SMALL_SUBCOMMANDS } from '../src/cli/small-subcommands.ts'

runCommandLine(commandLine(SMALL_SUBCOMMANDS), process.argv).then((code) => {
  process.exitCode = code
})
