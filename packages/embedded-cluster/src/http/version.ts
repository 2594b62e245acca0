/** The Kubernetes version that the cluster emulates. */
import type { JsonObject } from '../json.ts'

/** The release whose discovery table, schemas and behaviour are reproduced. */
export const kubernetesVersion = 'v1.35.8'

/** The response of `/version`. */
export function versionInfo(): JsonObject {
  return {
    major: '1',
    minor: '35',
    emulationMajor: '1',
    emulationMinor: '35',
    minCompatibilityMajor: '1',
    minCompatibilityMinor: '34',
    gitVersion: `${kubernetesVersion}+reeve`,
    gitCommit: 'embedded',
    gitTreeState: 'clean',
    buildDate: '2025-12-17T00:00:00Z',
    goVersion: `node${process.versions.node}`,
    compiler: 'node',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  }
}
