// What `image-entry.cjs` runs for subcommands of the CSI driver that talk to the cluster. Bundled as CommonJS.
import { runCommandLine } from '@reeve/cli'
import { commandLine } from '../src/cli/command-line.ts'
import { NODE_SUBCOMMANDS } from '../src/cli/node-subcommands.ts'

runCommandLine(commandLine(NODE_SUBCOMMANDS), process.argv).then((code) => {
  process.exitCode = code
})
