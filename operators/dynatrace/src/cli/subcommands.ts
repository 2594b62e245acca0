/** The subcommands: one line each. */
import type { SubcommandEntry } from '@reeve/cli'
import { NODE_SUBCOMMANDS } from './node-subcommands.ts'
import { SMALL_SUBCOMMANDS } from './small-subcommands.ts'

/**
 * In the order of `--help`. A new one takes a line here and a file that exports `command`:
 *
 * @example
 * { name: 'validate', summary: 'say what the webhook would say', load: () => import('./validate.ts') },
 */
export const SUBCOMMANDS: readonly SubcommandEntry[] = [
  {
    name: 'operator',
    summary: 'reconcile DynaKubes and EdgeConnects until SIGTERM',
    load: () => import('./operator.ts'),
  },
  { name: 'validate', summary: 'say what the webhook would say about files', load: () => import('./validate.ts') },
  {
    name: 'plan',
    summary: 'show what the operator would do, without doing it',
    load: () => import('./plan.ts'),
  },
  {
    name: 'inject',
    summary: 'show what the webhook would inject into pods, and why',
    load: () => import('./inject.ts'),
  },
  { name: 'convert', summary: 'print files in another version of the API', load: () => import('./convert.ts') },
  { name: 'rbac', summary: 'print the account and the roles that the operator needs', load: () => import('./rbac.ts') },
  {
    name: 'webhook-server',
    summary: 'serve admission, injection and conversion to the API server until SIGTERM',
    load: () => import('./webhook-server.ts'),
  },
  {
    name: 'simulate-tenant',
    summary: 'simulate a Dynatrace tenant until SIGTERM, for trying out an operator',
    load: () => import('./simulate-tenant.ts'),
  },
  {
    name: 'troubleshoot',
    summary: 'find out why an installation does not work, and what to do',
    load: () => import('./troubleshoot.ts'),
  },
  {
    name: 'support-archive',
    summary: 'collect logs, objects and a report into a ZIP archive, for support',
    load: () => import('./support-archive.ts'),
  },
  ...SMALL_SUBCOMMANDS,
  {
    name: 'bootstrap',
    summary: 'prepare a pod as its init container: download and configure agents, write metadata',
    load: () => import('./bootstrap.ts'),
  },
  ...NODE_SUBCOMMANDS,
  {
    name: 'crd-storage-migration',
    summary: 'rewrite stored DynaKubes in the version that is stored now',
    load: () => import('./crd-storage-migration.ts'),
  },
]
