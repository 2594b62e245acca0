/** The provisioner killed before changes that it makes: after a restart there is a complete agent and nothing else. */
import { mkdir, readdir, readlink, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { listing } from '@reeve/archives/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DataPaths } from '../../src/csi/data-paths.ts'
import { until } from '../support/until.ts'
import { declareMethod, type InstallMethod, JobPrograms, METHODS } from './support/install-methods.ts'
import { eachStep, killAt, missingTracer, ONE_THREAD, type Step } from './support/killed-at-step.ts'
import { type ProvisionerWorld, provisionerWorld } from './support/provisioner-process.ts'

/** Files of an agent are alike: the first of each kind of change stand for the others. */
const AT_MOST = { ZIP: 5, image: 3, Job: 3 }
const UNUSED = '1.0.0.0-1'

describe.skipIf(missingTracer()).each(METHODS)(
  'a provisioner killed before its changes, with an agent by %s (skipped without strace)',
  (name) => {
    let world: ProvisionerWorld
    let programs: JobPrograms
    let method: InstallMethod
    let paths: DataPaths
    let whole: Readonly<Record<string, string>>
    beforeAll(async () => {
      world = await provisionerWorld({ agentSizeBytes: 64 * 1024 })
      programs = await JobPrograms.start(world)
      paths = new DataPaths(join(world.folder, 'data'))
      programs.use(paths.root)
      method = await declareMethod(world, name)
      await world.decide('dk', method.decided)
      await installed()
      whole = await listing(paths.codeModule(method.folder))
    })
    afterAll(async () => {
      await programs[Symbol.asyncDispose]()
      await world[Symbol.asyncDispose]()
    })

    /** An agent that nothing uses, so that there is something to clean up. */
    async function addUnused(): Promise<void> {
      await mkdir(join(paths.codeModule(UNUSED), 'agent/bin'), { recursive: true })
      await writeFile(join(paths.codeModule(UNUSED), 'agent/bin/file'), 'old')
    }

    const namesIn = async (path: string) => (await readdir(path).catch(() => [])).toSorted()
    const isInstalled = async () =>
      (await readlink(paths.latestCodeModule('dk')).catch(() => '')) === paths.codeModule(method.folder) &&
      (await namesIn(paths.codeModules)).join() === method.folder

    /** Starts a provisioner, waits until its work is done, and stops it. */
    async function installed(): Promise<void> {
      const provisioner = world.start({ dataRoot: paths.root })
      await until('the agent', isInstalled)
      await provisioner.stop()
    }

    /** Installs and cleans up in a provisioner that is killed at a step; returns whether it was. */
    async function isKilled(step: Step): Promise<boolean> {
      await rm(paths.root, { recursive: true, force: true })
      await addUnused()
      await world.decide('dk', method.undecided)
      const provisioner = world.start({ dataRoot: paths.root, env: ONE_THREAD })
      await provisioner.logged('controller started')
      await killAt(provisioner.process.pid, step)
      await world.decide('dk', method.decided)
      const { process: child } = provisioner
      await until('the end', async () => child.signalCode !== null || (await isInstalled()))
      const wasKilled = child.signalCode !== null
      await provisioner.stop('SIGKILL')
      return wasKilled
    }

    it('never shows a part of an agent, and leaves nothing after a restart', { timeout: 900_000 }, async () => {
      const known = ['_dynakubes', 'codemodules', ...(name === 'Job' ? ['work'] : [])]
      const steps = await eachStep(async (step) => {
        if (!(await isKilled(step))) return false
        const visible = (await namesIn(paths.codeModules)).includes(method.folder)
        if (visible) expect([step, await listing(paths.codeModule(method.folder))]).toEqual([step, whole])
        await installed()
        expect([step, await listing(paths.codeModule(method.folder))]).toEqual([step, whole])
        expect([step, await namesIn(paths.root)]).toEqual([step, known])
        expect([step, await namesIn(paths.jobs)]).toEqual([step, []])
        expect([step, await namesIn(paths.dynakube('dk'))]).toEqual([step, ['latest-codemodule']])
        return true
      }, AT_MOST[name])
      // A Job does most of the work outside the provisioner.
      expect(steps).toBeGreaterThan(name === 'Job' ? 8 : 12)
    })
  },
)
