/** @module Files of Kubernetes objects: read like kubectl, with the position of every finding. */
export {
  type ManifestDocument,
  type Manifests,
  type Position,
  parseManifests,
  readManifests,
  type SyntaxProblem,
} from './manifest-file.ts'
export { type ManifestObject, type NotAnObject, objectsIn, titleOf } from './manifest-object.ts'
export { type Finding, printReview, type Review } from './review.ts'
export { reviewKind, type Verdict } from './review-kind.ts'
