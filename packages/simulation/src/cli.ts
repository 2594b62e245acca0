#!/usr/bin/env node
/** `reeve-explore`: the same as `reeve explore`, without the other commands. */
import { exploreCommand } from './explore-command.ts'

const args = process.argv.slice(2)
process.exitCode = await exploreCommand(args[0] === 'explore' ? args.slice(1) : args)
