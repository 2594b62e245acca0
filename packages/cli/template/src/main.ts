/** The command line of the operator: run, plan, crd and rbac. */
import { runOperatorCommandLine } from '@reeve/cli'
import { operator } from './operator.ts'

const about = { version: '0.1.0', description: 'Publishes the messages of Sprockets as ConfigMaps.' }
process.exitCode = await runOperatorCommandLine(operator, about, process.argv)
