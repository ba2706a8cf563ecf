import type { Attack } from './attack';

export const search: readonly Attack[] = [];
