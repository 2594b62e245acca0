/** The operator on the embedded or a real cluster: one stage for all, because one operator reconciles all. */
import { afterAll, beforeAll } from 'vitest'
import { type ControllersStage, setControllersStage } from '../support/controllers-stage.ts'
import { edgeConnectSuite } from './suites/edge-connect.ts'
import { everythingSuite } from './suites/everything.ts'
import { inMeshSuite } from './suites/in-mesh.ts'
import { leavingSuite } from './suites/leaving.ts'
import { modesSuite } from './suites/modes.ts'
import { nodesSuite } from './suites/nodes.ts'

let stage: ControllersStage
beforeAll(async () => {
  stage = await setControllersStage(['full', 'classic', 'hosts', 'pods', 'logs', 'in-mesh'])
})
afterAll(() => stage?.[Symbol.asyncDispose]())

everythingSuite(() => stage)
modesSuite(() => stage)
edgeConnectSuite(() => stage)
nodesSuite(() => stage)
// It deletes what the others created.
leavingSuite(() => stage)
inMeshSuite(() => stage)
