import { operatorManifests } from '../src/variants.ts'
import { manifestsSuite } from './support/manifests-suite.ts'

manifestsSuite(
  operatorManifests('dynatrace').variants.map(({ name }) => ({ operator: 'dynatrace', variant: name, values: {} })),
)
