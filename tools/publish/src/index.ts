/** Builds and packs the public packages. */
export { buildPackages } from './build.ts'
export { packageProblems } from './check.ts'
export { type PackedPackage, packPackages } from './pack.ts'
export { type PackageManifest, publicPackages, REPOSITORY } from './public-packages.ts'
