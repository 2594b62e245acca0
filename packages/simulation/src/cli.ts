#!/usr/bin/env node
/** `reeve-explore`: the same as `reeve explore`, without the other commands. */
import { exploreCommand } from './command.ts'

process.exitCode = await exploreCommand(process.argv.slice(2))
