import type { Attack } from './attack';

export const compile: readonly Attack[] = [];
