import type { Attack } from './attack';

export const yaml: readonly Attack[] = [];
