#!/usr/bin/env node
// The entry point of the image, beside the bundles. The operator's bundle takes a while to read; what containers start
// often has a bundle of its own. Every injected pod runs `bootstrap`, with little memory and processor time.
const SMALL = ['startup-probe', 'generate-metadata', 'csi-server', 'csi-node-driver-registrar', 'livenessprobe']
const NODE = ['csi-provisioner', 'csi-init']
const [, , subcommand] = process.argv
if (subcommand === 'bootstrap') require('./bootstrap.cjs')
else if (SMALL.includes(subcommand)) require('./small-commands.cjs')
else if (NODE.includes(subcommand)) require('./node-commands.cjs')
else require('./dynatrace-operator.cjs')
